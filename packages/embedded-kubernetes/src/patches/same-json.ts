/** Deep equality of JSON values, regardless of key order. */
import { asList, asRecord } from '../values/json.ts';

/** Deep equality. A key whose value is undefined is absent. */
export const sameJson = (left: unknown, right: unknown): boolean => {
  if (left === right) return true;
  const [leftList, rightList] = [asList(left), asList(right)];
  if (leftList !== undefined && rightList !== undefined) {
    return leftList.length === rightList.length &&
      leftList.every((item, index) => sameJson(item, rightList[index]));
  }
  const [leftRecord, rightRecord] = [asRecord(left), asRecord(right)];
  if (leftRecord === undefined || rightRecord === undefined) return false;
  const keys = Object.keys(leftRecord).filter((key) => leftRecord[key] !== undefined);
  const others = Object.keys(rightRecord).filter((key) => rightRecord[key] !== undefined);
  return keys.length === others.length &&
    keys.every((key) =>
      Object.hasOwn(rightRecord, key) && sameJson(leftRecord[key], rightRecord[key])
    );
};
