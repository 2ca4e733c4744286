/** Quantities beside Kubernetes' own arithmetic: the oracle runs apimachinery. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asRecord, asText, parseJson } from '../../src/domain/json.ts';
import {
  addQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  QUANTITY_EXPONENT_MAX,
  wholeQuantity,
} from '../../src/domain/quantity.ts';
import { oracle } from '../../tools/testbed/binaries.ts';
import { runCommand } from '../../tools/testbed/commands.ts';
import { describeWithGo } from '../support/api/testbed.ts';
import { anyQuantityTexts, quantityTexts } from '../support/demand/quantity-texts.ts';

/** What one side makes of a list of texts: the sum, or that one of them is no quantity. */
interface Verdict {
  readonly canonical?: string;
  readonly nanos?: string;
  readonly isError: boolean;
}

const ours = (texts: readonly string[]): Verdict => {
  const quantities: Quantity[] = [];
  for (const text of texts) {
    const reading = parseQuantity(text);
    if (reading._tag === 'Malformed') return { isError: true };
    quantities.push(reading.quantity);
  }
  const [only] = quantities;
  const value = only !== undefined && quantities.length === 1
    ? only
    : quantities.reduce(addQuantities, wholeQuantity(0n));
  return { canonical: printQuantity(value), nanos: String(value.nanos), isError: false };
};

const verdictIn = (line: string): Verdict => {
  const answer = asRecord(parseJson(line));
  const canonical = asText(answer?.['canonical']);
  const nanos = asText(answer?.['nanos']);
  return canonical === undefined || nanos === undefined
    ? { isError: true }
    : { canonical, nanos, isError: false };
};

const asked = async (lists: readonly (readonly string[])[]): Promise<readonly Verdict[]> => {
  const input = lists.map((texts) => `${JSON.stringify(texts)}\n`).join('');
  const { code, stdout, stderr } = await runCommand(await oracle('quantity'), [], { input });
  if (code !== 0) throw new Error(stderr);
  return stdout.trimEnd().split('\n').map(verdictIn);
};

/** Go drops a suffix that does not exist; then its text is not its value, and only that counts. */
const losesItsSuffix = async (verdicts: readonly Verdict[]): Promise<readonly boolean[]> => {
  const again = await asked(verdicts.map(({ canonical }) => [canonical ?? '0']));
  const isBinary = (text: string): boolean => text.endsWith('i');
  return verdicts.map(({ nanos, canonical = '' }, index) =>
    again[index]?.nanos !== nanos && !isBinary(canonical)
  );
};

const compare = async (lists: readonly (readonly string[])[]): Promise<void> => {
  const theirs = await asked(lists);
  expect(theirs).toHaveLength(lists.length);
  const lost = await losesItsSuffix(theirs);
  const differences = lists.flatMap((texts, index) => {
    const [left, right] = [ours(texts), theirs[index]];
    const isSame = left.isError === right?.isError && left.nanos === right.nanos &&
      (lost[index] === true || left.canonical === right.canonical);
    return isSame ? [] : [{ texts, ours: left, theirs: right }];
  });
  expect(differences).toEqual([]);
};

const sampled = <Value>(arbitrary: fc.Arbitrary<Value>, count: number): readonly Value[] => {
  const seed = 20_261_121;
  return fc.sample(arbitrary, { numRuns: count, seed });
};

describeWithGo('quantities beside apimachinery', () => {
  it('quantity: 10,000 texts are read, rounded and printed as Kubernetes does', async () => {
    await compare(sampled(quantityTexts.map((text) => [text]), 10_000));
  });

  it('quantity: 10,000 sums agree with Kubernetes, format included', async () => {
    await compare(sampled(fc.array(quantityTexts, { minLength: 2, maxLength: 6 }), 10_000));
  });

  it('quantity: 10,000 texts are taken or refused as Kubernetes does', async () => {
    // A text without a digit is the one kind that we refuse and Go takes (for zero).
    const hasDigit = (text: string): boolean => /^[+-]?\.?[0-9]/.test(text);
    const isInRange = (text: string): boolean =>
      Math.abs(Number(/[eE]([+-]?\d+)$/.exec(text)?.[1] ?? 0)) <= QUANTITY_EXPONENT_MAX;
    const texts = sampled(anyQuantityTexts, 20_000)
      .filter((text) => hasDigit(text) && isInRange(text)).slice(0, 10_000);
    expect(texts).toHaveLength(10_000);
    await compare(texts.map((text) => [text]));
  });

  it('wire 2: Go reads every sum that we print, value for value', async () => {
    const lists = sampled(fc.array(quantityTexts, { minLength: 1, maxLength: 6 }), 10_000);
    const sums = lists.map((texts) => ours(['0', ...texts]));
    // Go reads a binary quantity beyond an int64 as the largest int64, as it does its own.
    const isCapped = ({ canonical = '', nanos = '0' }: Verdict): boolean =>
      canonical.endsWith('i') && BigInt(nanos.replace('-', '')) >= 2n ** 63n * 10n ** 9n;
    const readBack = await asked(sums.map(({ canonical = '' }) => [canonical]));
    const differences = sums.flatMap((sum, index) =>
      isCapped(sum) || readBack[index]?.nanos === sum.nanos ? [] : [[sum, readBack[index]]]
    );
    expect(differences).toEqual([]);
  });

  it('quantity: the examples of the wire agree with Kubernetes', async () => {
    await compare([['500m', '500m'], ['1Gi', '512Mi'], ['-0'], ['1.500'], ['9Ei', '9Ei'], ['1n']]);
  });
});
