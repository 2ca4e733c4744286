/** `labelSelector` of a query: `a=b,c!=d,e in (f,g),!h` (`apimachinery/pkg/labels/selector.go`). */
import { labelValueProblems, qualifiedNameProblems } from '../validation/names.ts';
import { badRequest } from '../validation/problem.ts';

/** Whether labels match. */
export type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

const WORD = '[^\\s!=,()<>]+';
const ABSENCE = `!\\s*(?<absent>${WORD})`;
const COMPARISON = '(?<sign>==|=|!=|>|<)\\s*(?<value>[^\\s,()!=<>]*)';
const MEMBERSHIP = '\\s(?<set>in|notin)\\s*\\((?<values>[^()]*)\\)';

/** One requirement with its trailing comma. */
const REQUIREMENT = new RegExp(
  `^\\s*(?:${ABSENCE}|(?<key>${WORD})\\s*(?:${COMPARISON}|${MEMBERSHIP})?)\\s*(?:,|$)`,
);

const setTest =
  (key: string, values: readonly string[], wanted: boolean): LabelTest => (labels) => {
    const value = labels[key];
    return (value !== undefined && values.includes(value)) === wanted;
  };

const signTest = (key: string, sign: string, value: string): LabelTest => {
  switch (sign) {
    case '>':
      return (labels) => labels[key] !== undefined && Number(labels[key]) > Number(value);
    case '<':
      return (labels) => labels[key] !== undefined && Number(labels[key]) < Number(value);
    default:
      return setTest(key, [value], sign !== '!=');
  }
};

const testOf = (groups: Readonly<Record<string, string | undefined>>): LabelTest => {
  const { absent, key = '', sign, value = '', set, values = '' } = groups;
  if (absent !== undefined) return (labels) => !Object.hasOwn(labels, absent);
  if (sign !== undefined) return signTest(key, sign, value);
  if (set === undefined) return (labels) => Object.hasOwn(labels, key);
  return setTest(key, values.split(',').map((one) => one.trim()), set === 'in');
};

const assertNamesAndValues = (groups: Readonly<Record<string, string | undefined>>): void => {
  const { absent, key, value, values } = groups;
  const name = absent ?? key ?? '';
  const texts = [...(values ?? '').split(','), value ?? ''].map((one) => one.trim());
  const [problem] = [...qualifiedNameProblems(name), ...texts.flatMap(labelValueProblems)];
  if (problem !== undefined) throw badRequest(`unable to parse requirement: ${name}: ${problem}`);
};

/** Parses a label selector; throws when it is malformed. */
export const labelTest = (selector: string): LabelTest | undefined => {
  if (selector.trim() === '') return undefined;
  const tests: LabelTest[] = [];
  for (let rest = selector; rest !== '';) {
    const match = REQUIREMENT.exec(rest);
    if (match === null || match.groups === undefined) {
      throw badRequest(
        `unable to parse requirement: found '${rest.trim()}', expected: !, identifier, or ` +
          "'end of string'",
      );
    }
    assertNamesAndValues(match.groups);
    tests.push(testOf(match.groups));
    if (match[0].length === rest.length && match[0].trim().endsWith(',')) {
      throw badRequest("unable to parse requirement: found '', expected: identifier after ','");
    }
    rest = rest.slice(match[0].length);
  }
  return (labels) => tests.every((test) => test(labels));
};
