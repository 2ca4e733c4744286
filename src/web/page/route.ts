/** The current view, kept in the address, so that links and the back button work. */
import { signal } from '@preact/signals';
import { addressOf, type Route, routeIn } from './address.ts';

/** The current route. */
export const route = signal(routeIn(location.hash));

addEventListener('hashchange', () => {
  route.value = routeIn(location.hash);
});

/** The current address with these changes. */
export const addressWith = (change: Partial<Route>): string =>
  addressOf({ ...route.value, ...change });

/** Changes the view without a history entry, as typing does. */
export const replaceRoute = (change: Partial<Route>): void => {
  history.replaceState(null, '', addressWith(change));
  route.value = routeIn(location.hash);
};

/** Navigates. */
export const go = (change: Partial<Route>): void => {
  location.hash = addressWith(change);
};
