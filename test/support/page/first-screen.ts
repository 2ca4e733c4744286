/** The questions of a newcomer: what is stuck, why, and who acts, without a click. */
import type { Locator, Page } from 'playwright-core';

/** True when the element is wholly visible without scrolling. */
export const isOnFirstScreen = async (element: Locator): Promise<boolean> => {
  const box = await element.first().boundingBox();
  const { height = 0 } = element.page().viewportSize() ?? {};
  return box !== null && box.y >= 0 && box.y + box.height <= height;
};

const QUESTIONS = {
  'what is stuck': 'h3',
  'why': '.verdict dd',
  'who acts': '.who',
} as const;

/**
 * The questions that the first screen of the drain board leaves open: of its first card, or of its
 * headline when nothing drains. The page is read in one step, because it goes on.
 */
export const answersOnFirstScreen = async (page: Page): Promise<readonly string[]> =>
  await page.evaluate((questions) => {
    const isSeen = (element: Element | null | undefined): boolean => {
      const box = element?.getBoundingClientRect();
      return box !== undefined && box.height > 0 && box.top >= 0 &&
        box.bottom <= globalThis.innerHeight;
    };
    const headline = document.querySelector('.headline');
    const card = document.querySelector('.verdict')?.closest('.card');
    if (card === null || card === undefined) {
      const isCalm = headline?.textContent.includes('No action needed') === true;
      return isCalm && isSeen(headline) ? [] : ['what, why and who'];
    }
    const open = Object.entries(questions)
      .filter(([, selector]) => !isSeen(card.querySelector(selector)))
      .map(([question]) => question);
    return isSeen(headline) ? open : ['in short', ...open];
  }, QUESTIONS);
