/** Mutations of a source text, and the text with all of them. */
import { describe, expect, it } from 'vitest';
import { instrumented, type Mutation, mutationsIn } from '../../mutants/operators.ts';
import { rejectedByTypes } from '../../mutants/rejected-mutations.ts';

const whatIn = (text: string): readonly string[] =>
  mutationsIn('a.ts', text).map(({ what }) => what);

/** The value of an expression with one of its mutations, or with none. */
const valueOf = (text: string, active: Mutation | undefined): unknown => {
  const source = `const value = ${text};`;
  const mutations = mutationsIn('a.ts', source);
  const idOf = ({ start, what }: Mutation): string => `${start} ${what}`;
  const written = instrumented(source, mutations, idOf);
  const id = active === undefined ? '' : idOf(active);
  Reflect.set(globalThis, 'isMutant', (asked: string) => asked === id);
  const run: unknown = Reflect.construct(Function, [`${written} return value;`]);
  return typeof run === 'function' ? run() : undefined;
};

describe('mutations', () => {
  it('make a condition hold always and never', () => {
    expect(whatIn('if (ready) start();')).toEqual([
      'ready → true',
      'ready → false',
      'without start();',
    ]);
  });

  it('replace an operator by the one beside it', () => {
    expect(whatIn('const a = b < c;')).toEqual(['b < c → (b) <= (c)']);
    expect(whatIn('const a = b && !c;')).toEqual(['b && !c → (b) || (!c)', '!c → c']);
    expect(whatIn('const a = b ?? 1;')).toEqual(['b ?? 1 → b']);
    expect(whatIn('const a = Math.min(b, c);')).toEqual(['Math.min(b, c) → Math.max(b, c)']);
  });

  it('leave reports, texts and types as they are', () => {
    expect(whatIn("this.#telemetry.count('a', 1); telemetry.log('info', 'b');")).toEqual([]);
    expect(whatIn("const a = 'b' + c; let d: true; d.toString();")).toEqual([
      'without d.toString();',
    ]);
  });

  it('stay out of optional chains, which would end there', () => {
    expect(whatIn('const a = b?.some(c).d;')).toEqual([]);
  });
});

describe('instrumented text', () => {
  const text = '[1, 2, 3].some((a) => a > 2 && a < 4 || a === 9)';

  it('does without a mutation what the text does', () => {
    expect(valueOf(text, undefined)).toBe(true);
  });

  it('does what each mutation does, nested ones included', () => {
    const values = mutationsIn('a.ts', `const value = ${text};`).map((mutation) => [
      mutation.what.split(' → ')[1],
      valueOf(text, mutation),
    ]);
    expect(values).toEqual([
      ['[1, 2, 3].every((a) => a > 2 && a < 4 || a === 9)', false],
      ['(a > 2 && a < 4) && (a === 9)', false],
      ['(a > 2) || (a < 4)', true],
      ['(a) >= (2)', true],
      ['(a) <= (4)', true],
      ['(a) !== (9)', true],
    ]);
  });
});

describe('the type checker', () => {
  it('rejects what cannot be committed, and nothing else', () => {
    const file = 'src/domain/example.ts';
    const text = `import { cutText } from './text.ts';
export const isShort = (text: string | undefined): boolean =>
  cutText(text ?? '', 9).length < 9;`;
    const mutated = mutationsIn(file, text)
      .map((mutation) => ({ id: mutation.what, file, text, mutation }));
    expect(mutated.length).toBe(2);
    expect([...rejectedByTypes(mutated)]).toEqual(["text ?? '' → text"]);
  });
});
