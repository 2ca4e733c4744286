/** The generated field tables equal those of a real API server. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { fieldsPages } from '../../tools/field-tables.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';

describeWithTestbed('the fields of the built-in kinds', { own: true }, (bed) => {
  it('are those of kube-apiserver; "node tools/kubernetes-fields.ts" writes them', async () => {
    for (const { path, text } of await fieldsPages(bed())) {
      expect(text).toBe(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8'));
    }
  });
});
