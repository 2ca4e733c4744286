/** Where the page stands: in the address, so that a link and a step back lead there again. */
import { signal } from '@preact/signals';
import { addressOf, type Route, routeIn } from './address.ts';

/** The route of now. */
export const route = signal(routeIn(location.hash));

addEventListener('hashchange', () => {
  route.value = routeIn(location.hash);
});

/** The address that differs from the one of now in this. */
export const addressWith = (change: Partial<Route>): string =>
  addressOf({ ...route.value, ...change });

/** Changes what is looked at without a step in the history, as typing does. */
export const replaceRoute = (change: Partial<Route>): void => {
  history.replaceState(null, '', addressWith(change));
  route.value = routeIn(location.hash);
};

/** Goes somewhere. */
export const go = (change: Partial<Route>): void => {
  location.hash = addressWith(change);
};
