/**
 * Text widths without a browser, for layouts.
 *
 * Promises: never less than common sans-serif fonts need: the widths are those of DejaVu Sans, the
 * widest of them, so no text leaves its box in any font.
 */

/** Characters by width in hundredths of the font size. */
const WIDTHS: Readonly<Record<number, string>> = {
  28: "'ijl",
  32: ' ,.IJ',
  36: '/:;\\|f-',
  40: '()[]t!',
  46: 'r"',
  50: '*_`',
  53: 'sz?',
  56: 'cL',
  59: 'Fkvxy',
  62: 'PTYaoe',
  64: 'ESbdghnpqu$0123456789{}',
  69: 'KAVBRXZ',
  75: 'CUHN',
  79: 'DG&OQ',
  84: 'w#+<=>^~',
  97: 'Mm%',
  100: 'W@',
};

const WIDEST = 100;
const BOLD = 1.12;

const widths = new Map(
  Object.entries(WIDTHS).flatMap(([width, characters]) =>
    [...characters].map((character) => [character, Number(width)] as const)
  ),
);

/** The width of a line in pixels, at a font size in pixels. */
export const textWidth = (text: string, size: number, isBold = false): number => {
  const hundredths = [...text].reduce((sum, one) => sum + (widths.get(one) ?? WIDEST), 0);
  return hundredths * size * (isBold ? BOLD : 1) / 100;
};

/** Wraps a text between words at this width where words allow it. */
export const wrapped = (text: string, size: number, widthMax: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last === undefined) lines.push(word);
    else if (textWidth(longer, size) <= widthMax) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines;
};
