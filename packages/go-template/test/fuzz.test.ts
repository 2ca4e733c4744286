/** Texts made to break the template engine. Seeds are printed by fast-check when one fails. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBytes, toBytes } from '../src/byte-strings.ts';
import { formatFloat } from '../src/float-formatting.ts';
import { quote, unquote } from '../src/quoting.ts';
import { parseTemplate, renderTemplate } from '../src/template.ts';
import { OUTPUT_BYTES_MAX } from '../src/work-meter.ts';
import { fuzzedTemplate, GRAMMAR_DATA } from './template-grammar.ts';

const RUNS = 10_000;

describe('a template', () => {
  it(`answers ${RUNS} texts made by its grammar or broken, and never throws`, () => {
    fc.assert(
      fc.property(fuzzedTemplate, (text) => {
        const parsed = parseTemplate('fuzz', text);
        if (parsed._tag === 'Unparseable') {
          expect(parsed.message).toContain(`template: fuzz:${parsed.line}: `);
          return;
        }
        const answer = renderTemplate(parsed.template, GRAMMAR_DATA);
        if (answer._tag === 'Rendered') {
          expect(answer.text.length).toBeLessThanOrEqual(OUTPUT_BYTES_MAX);
        } else {
          expect(answer.message).toMatch(/^template: fuzz/);
          expect(answer.line).toBeLessThanOrEqual(text.split('\n').length);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('without actions gives its own text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!text.includes('{{'));
        const parsed = parseTemplate('text', text);
        expect(parsed._tag === 'Parsed' && renderTemplate(parsed.template, null))
          .toEqual({ _tag: 'Rendered', text });
      }),
    );
  });
});

describe('the parts of the engine', () => {
  it('toBytes and fromBytes undo each other', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(fromBytes(toBytes(text))).toBe(text);
    }));
  });

  it('unquote undoes quote for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array(), fc.constantFrom('unicode', 'ascii'), (bytes, as) => {
      const text = String.fromCharCode(...bytes);
      expect(unquote(quote(text, as))).toBe(text);
    }));
  });

  it('the shortest form of a float reads back as the same float', () => {
    fc.assert(fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom('e', 'f', 'g'),
      (value, form) => {
        expect(Number(formatFloat(value, form))).toBe(value);
      },
    ));
  });
});
