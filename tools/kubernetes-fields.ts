/**
 * Writes packages/embedded-kubernetes/src/gen/kubernetes/fields.ts from what the API server of the
 * test bed publishes. Whether it is current is asked where that server runs anyway: in
 * test/integration.
 */
import { fieldsPage } from './field-tables.ts';
import { settlePages } from './pages.ts';
import { startTestbed } from './testbed/testbed.ts';

const bed = await startTestbed();
try {
  settlePages('tools/kubernetes-fields.ts', [await fieldsPage(bed)]);
} finally {
  await bed.stop();
}
