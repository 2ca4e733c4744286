/**
 * Users from a file of tokens in CSV, as kube-apiserver reads it with `--token-auth-file`:
 * `token,user,uid,"group1,group2"`.
 *
 * Promises: a line without a token, a user or a UID is an error that names it.
 */
import type { TokenUser } from './authenticator.ts';

const FIELD = /("(?:[^"]|"")*"|[^,]*)(?:,|$)/y;

const fieldsOf = (line: string): readonly string[] => {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < line.length) {
    const text = FIELD.exec(line)?.[1] ?? '';
    fields.push(text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text);
  }
  return fields.map((field) => field.trim());
};

const groupsIn = (text: string): readonly string[] =>
  text.split(',').map((group) => group.trim()).filter((group) => group !== '');

/** The users of a token file; empty lines and those that begin with `#` are skipped. */
export const tokenUsersIn = (text: string): readonly TokenUser[] =>
  text.split('\n').flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const [token = '', name = '', uid = '', groups = ''] = fieldsOf(line.trim());
    if (token !== '' && name !== '' && uid !== '') {
      return [{ token, name, uid, groups: groupsIn(groups) }];
    }
    throw new Error(
      `Cannot read line ${index + 1} of the token file: write token,user,uid,"group1,group2"`,
    );
  });
