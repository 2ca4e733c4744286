/** The table of fields has every field of both schemas, and every field that is written. */
import { expect, test } from 'vitest';
import { evictionRequest } from '../../../../src/api/eviction-request.ts';
import { customResourceDefinition } from '../../../../src/api/crd.ts';
import { asRecord, listOrEmptyAt, recordAt, textAt, valueAt } from '../../../../src/domain/json.ts';
import {
  evictionBody,
  evictionStatusBody,
  mirrorBodies,
  nativeReportBody,
  nativeWantedBody,
} from '../../../../src/domain/native-evictions/writes.ts';
import { FIELD_ROWS } from '../../../../tools/native-field-rows.ts';
import { NATIVE_DEFINITIONS } from '../../../support/eviction-requests/native-definitions.ts';
import {
  ACTIVE_STATUS,
  joined,
  rawNativeEviction,
  rawNativeRequest,
} from '../../../support/eviction-requests/native-fixture.ts';
import {
  ACTOR_A,
  CREATED_MS,
  IMPERATIVE,
} from '../../../support/eviction-requests/request-fixture.ts';

/** The fields of a schema; a condition is one. */
const fieldsOf = (schema: unknown, path = ''): readonly string[] => {
  if (path.endsWith('conditions[]')) return [path];
  const items = valueAt(schema, 'items');
  if (items !== undefined) return fieldsOf(items, `${path}[]`);
  const properties = recordAt(schema, 'properties');
  if (properties === undefined) return [path];
  return Object.entries(properties)
    .flatMap(([name, one]) => fieldsOf(one, path === '' ? name : `${path}.${name}`));
};

const schemaOf = (definition: unknown): unknown =>
  valueAt(listOrEmptyAt(definition, 'spec', 'versions')[0], 'schema', 'openAPIV3Schema');

const isData = (field: string): boolean => /^(spec|status)\./u.test(field);

/** The fields of an object; entries of labels and conditions are one. */
const fieldsIn = (value: unknown, path = ''): readonly string[] => {
  if (/(labels|ownerReferences|conditions\[\])$/u.test(path)) return [path];
  if (Array.isArray(value)) return value.flatMap((item) => fieldsIn(item, `${path}[]`));
  const record = asRecord(value);
  if (record === undefined) return [path];
  return Object.entries(record)
    .flatMap(([name, one]) => fieldsIn(one, path === '' ? name : `${path}.${name}`));
};

const there = new Set(FIELD_ROWS.flatMap((row) => row.there));
const here = new Set(FIELD_ROWS.flatMap((row) => row.here));

test('the table has every field of our schema', () => {
  const fields = fieldsOf(schemaOf(customResourceDefinition(evictionRequest))).filter(isData);
  expect([...here].filter(isData).toSorted()).toEqual([...new Set(fields)].toSorted());
});

test('the table has every field of their schemas', () => {
  const fields = NATIVE_DEFINITIONS.flatMap((definition) =>
    fieldsOf(schemaOf(definition)).filter(isData)
      .map((field) => `${textAt(definition, 'spec', 'names', 'kind')} ${field}`)
  );
  const listed = [...there].filter((field) =>
    isData(field.split(' ')[1] ?? '') && !field.startsWith('Pod ')
  );
  expect(listed.toSorted()).toEqual([...new Set(fields)].toSorted());
});

test('the table has every field that is written', () => {
  const request = joined({ requests: [rawNativeRequest('nodes.example.com/drain')] });
  const status = ACTIVE_STATUS;
  const ended = {
    ...status,
    active: null,
    processed: [ACTOR_A, IMPERATIVE],
    conditions: [{
      type: 'Evicted',
      status: 'True',
      reason: 'PodDeleted',
      message: '',
      sinceMs: CREATED_MS,
    }],
  } as const;
  const open = joined({
    requests: [rawNativeRequest('nodes.example.com/drain')],
    evictions: [rawNativeEviction()],
  });
  const version = { uid: 'u', resourceVersion: '1' };
  const pod = { namespace: 'n', name: 'p', uid: 'u' };
  const bodies = [
    evictionBody(request, status),
    evictionStatusBody(request, status, version),
    evictionStatusBody(open, ended, version),
    ...mirrorBodies(request, status).map(({ body }) => body),
    nativeWantedBody(pod, 'reclaim.tidegate.dev'),
    nativeReportBody(open, { heartbeatMs: CREATED_MS, message: 'm' }),
  ];
  const known = /^(apiVersion|kind|metadata\.(namespace|uid|resourceVersion))$/u;
  const written = bodies.flatMap((body) =>
    fieldsIn(body).filter((field) => !known.test(field))
      .map((field) => `${textAt(body, 'kind')} ${field}`)
  );
  expect(written.filter((field) => !there.has(field))).toEqual([]);
});
