/** Every state that a live page highlighted, recorded inside the page so that none is missed. */
import type { Page } from 'playwright-core';
import { type LitMoment, sortedStates } from './recorded-actors.ts';

const NOTES = 'litStates';

/** Records highlighted states from the next document onwards. Call it before the page is opened. */
export const watchLitStates = (page: Page): Promise<unknown> =>
  page.addInitScript((name) => {
    const notes: { readonly states: readonly string[]; readonly atMs: number }[] = [];
    Object.assign(globalThis, { [name]: notes });
    const look = (): void => {
      const lit = [...document.querySelectorAll('[data-state].lit')];
      const states = lit.map((group) => group.getAttribute('data-state') ?? '');
      const last = notes.at(-1)?.states ?? [];
      const isSame = states.length === last.length && states.every((path, at) => path === last[at]);
      if (states.length > 0 && !isSame) notes.push({ states, atMs: Date.now() });
    };
    new MutationObserver(look).observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['class'],
    });
  }, NOTES);

/** Forgets what was lit so far. */
export const forgetLitStates = (page: Page): Promise<void> =>
  page.evaluate((name) => {
    Reflect.get(globalThis, name).length = 0;
  }, NOTES);

/** What was lit so far, one after another. */
export const litStates = async (page: Page): Promise<readonly LitMoment[]> => {
  const notes = await page.evaluate(
    (name): readonly { readonly states: readonly string[]; readonly atMs: number }[] =>
      Reflect.get(globalThis, name),
    NOTES,
  );
  return notes.map(({ states, atMs }) => ({ state: sortedStates(states), atMs }));
};
