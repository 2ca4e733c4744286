/**
 * Writes packages/embedded-kubernetes/src/gen/kubernetes/field*.ts from the OpenAPI documents of
 * the test bed's API server. test/integration checks that it is current, because that server runs
 * there.
 */
import { fieldsPages } from './field-tables.ts';
import { settlePages } from './pages.ts';
import { startTestbed } from './testbed/testbed.ts';

const bed = await startTestbed();
try {
  settlePages('tools/kubernetes-fields.ts', await fieldsPages(bed));
} finally {
  await bed.stop();
}
