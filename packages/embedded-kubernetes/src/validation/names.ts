/** Rules for names, labels and annotations, with the real server's messages. */

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SERVICE_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const LABEL_MAX = 63;
const SUBDOMAIN_MAX = 253;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'" +
  ", and must start and end with an alphanumeric character (e.g. 'example.com', regex used for " +
  "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and " +
  "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used " +
  "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SERVICE_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " +
  "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', " +
  "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " +
  "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
  "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or " +
  "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const atMost = (max: number): string => `must be no more than ${max} bytes`;

const shaped =
  (pattern: RegExp, max: number, text: string) => (value: string): readonly string[] => [
    ...(value.length > max ? [atMost(max)] : []),
    ...(pattern.test(value) ? [] : [text]),
  ];

/** Validates a DNS subdomain name. */
export const subdomainProblems = shaped(SUBDOMAIN, SUBDOMAIN_MAX, SUBDOMAIN_TEXT);
/** Validates a DNS label. */
export const labelNameProblems = shaped(LABEL, LABEL_MAX, LABEL_TEXT);
/** Validates the name of a Service. */
export const serviceNameProblems = shaped(SERVICE_LABEL, LABEL_MAX, SERVICE_TEXT);
/** Validates a label value. */
export const labelValueProblems = shaped(LABEL_VALUE, LABEL_MAX, LABEL_VALUE_TEXT);

/** Validates a name that is one path segment. */
export const pathSegmentProblems = (value: string): readonly string[] => {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((part) => value.includes(part)).map((part) =>
    `may not contain '${part}'`
  );
};

/** Validates the key of a label, annotation or finalizer: `prefix/name` or `name`. */
export const qualifiedNameProblems = (value: string): readonly string[] => {
  const parts = value.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start ` +
      `and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', ` +
      `regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional ` +
      `DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const [prefix] = parts;
  const prefixed = parts.length === 2 && prefix !== undefined;
  const ofPrefix = !prefixed
    ? []
    : prefix === ''
    ? ['prefix part must be non-empty']
    : subdomainProblems(prefix).map((problem) => `prefix part ${problem}`);
  if (name === '') return [...ofPrefix, 'name part must be non-empty', NAME_PART_TEXT];
  return [
    ...ofPrefix,
    ...(name.length > LABEL_MAX ? [`name part ${atMost(LABEL_MAX)}`] : []),
    ...(NAME_PART.test(name) ? [] : [NAME_PART_TEXT]),
  ];
};
