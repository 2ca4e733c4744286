/** The content of a live page as plain data, and the same view of a recording. */
import type { Page } from 'playwright-core';
import type { RecordLine } from '../../../src/api/actor-record.ts';
import { statesText } from '../../../src/web/page/words.ts';
import { staysOf } from './recorded-actors.ts';

/** The number of entries that a page shows of one actor. */
const STEPS_MAX = 30;
const EVENTS_MAX = 50;

/** An event and its target state as text; newest first. */
export type PageEvent = readonly [event: string, ledTo: string];

/** The rows of the log of the actor that is looked at. */
export const pageLog = (page: Page): Promise<readonly PageEvent[]> =>
  page.locator('.log tbody tr').evaluateAll((rows) =>
    rows.map((row): readonly [string, string] => {
      const [, event, ledTo] = [...row.querySelectorAll('td')].map((cell) => cell.textContent);
      return [event ?? '', ledTo ?? ''];
    })
  );

/** The way of the actor that is looked at. */
export const pagePath = (page: Page): Promise<readonly PageEvent[]> =>
  page.locator('.path li').evaluateAll((steps) =>
    steps.map((step): readonly [string, string] => [
      step.querySelector('.event')?.textContent ?? '',
      step.querySelector('b')?.textContent ?? '',
    ])
  );

const statesLine = ({ state }: { readonly state: string }): string => statesText(state.split(' '));

/** The log as it should be. */
export const recordedLog = (lines: readonly RecordLine[], id: string): readonly PageEvent[] =>
  lines.filter((line) => line.id === id).map((line, at, all): PageEvent => [
    line.event.type,
    line.state === all[at - 1]?.state ? '' : statesLine(line),
  ]).slice(-EVENTS_MAX).toReversed();

/** The way as it should be. */
export const recordedPath = (lines: readonly RecordLine[], id: string): readonly PageEvent[] =>
  staysOf(lines, id).map((stay): PageEvent => [stay.event, statesLine(stay)])
    .slice(-STEPS_MAX).toReversed();

/**
 * The number of actors in each state, according to the drawing; empty for a machine without actors.
 */
export const pageCounts = async (page: Page): Promise<Readonly<Record<string, number>>> => {
  await page.locator('[data-state]').first().waitFor();
  const badges = await page.locator('[data-state]:has(> text.state-count)').evaluateAll((groups) =>
    groups.map((group): readonly [string, string] => [
      group.getAttribute('data-state') ?? '',
      group.querySelector(':scope > text.state-count')?.textContent ?? '',
    ])
  );
  return Object.fromEntries(
    badges.filter(([, text]) => text !== '')
      .map(([state, text]) => [state, Number(text.replaceAll(',', ''))]),
  );
};

/** The states that are lit. */
export const litPaths = (page: Page): Promise<readonly string[]> =>
  page.locator('[data-state].lit').evaluateAll((groups) =>
    groups.map((group) => group.getAttribute('data-state') ?? '')
  );

/** The ids of the actors that a search found. */
export const pageLinks = (page: Page): Promise<readonly string[]> =>
  page.locator('.line a').evaluateAll((links) =>
    links.map((link) => link.getAttribute('href') ?? '')
  );
