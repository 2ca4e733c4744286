/** The questions of a newcomer: what is stuck, why, and who acts, without a click. */
import type { Locator, Page } from 'playwright-core';

/** True when the element is wholly visible without scrolling. */
export const isOnFirstScreen = async (element: Locator): Promise<boolean> => {
  const box = await element.first().boundingBox();
  const { height = 0 } = element.page().viewportSize() ?? {};
  return box !== null && box.y >= 0 && box.y + box.height <= height;
};

/**
 * The questions that the first screen of the drain board leaves open: of its first card, or of its
 * headline when nothing drains.
 */
export const answersOnFirstScreen = async (page: Page): Promise<readonly string[]> => {
  const headline = page.locator('.headline');
  const card = page.locator('.card:has(.verdict)').first();
  const questions: readonly (readonly [string, Locator])[] = await card.count() === 0
    ? [['what, why and who', headline.filter({ hasText: 'No action needed' })]]
    : [
      ['in short', headline],
      ['what is stuck', card.locator('h3')],
      ['why', card.locator('.verdict dd').first()],
      ['who acts', card.locator('.who')],
    ];
  const open: string[] = [];
  for (const [question, answer] of questions) {
    if (!await isOnFirstScreen(answer)) open.push(question);
  }
  return open;
};
