/** Equality of JSON values, ignoring the order of keys. */
import { asList, asRecord, type JsonRecord } from './json.ts';

const presentKeys = (record: JsonRecord): readonly string[] =>
  Object.keys(record).filter((key) => record[key] !== undefined);

const sameRecords = (left: JsonRecord, right: JsonRecord): boolean => {
  const keys = presentKeys(left);
  return keys.length === presentKeys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
};

/** Deep equality. A key whose value is undefined is absent. */
export const sameJson = (left: unknown, right: unknown): boolean => {
  if (left === right) return true;
  const [leftList, rightList] = [asList(left), asList(right)];
  if (leftList !== undefined && rightList !== undefined) {
    return leftList.length === rightList.length &&
      leftList.every((item, index) => sameJson(item, rightList[index]));
  }
  const [leftRecord, rightRecord] = [asRecord(left), asRecord(right)];
  return leftRecord !== undefined && rightRecord !== undefined &&
    sameRecords(leftRecord, rightRecord);
};
