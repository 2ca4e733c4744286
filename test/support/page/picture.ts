/** Pictures of the documentation, taken by tests: with PAGE_PICTURES=docs/pictures. */
import process from 'node:process';
import type { Page } from 'playwright-core';

/** Takes a picture, if pictures are asked for. */
export const savePicture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['PAGE_PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
};
