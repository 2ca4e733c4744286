/**
 * Writes packages/embedded-kubernetes/src/gen/kubernetes/protobuf.ts from the Go sources that the
 * test bed is built from. test/integration checks that it is current.
 */
import { settlePages } from './pages.ts';
import { protobufPage } from './protobuf-tables.ts';

settlePages('tools/kubernetes-protobuf.ts', [await protobufPage()]);
