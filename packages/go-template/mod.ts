/**
 * Go `text/template` for TypeScript: parse a text, render it over data, with Go's own output and
 * Go's own error messages. README.md has examples.
 */
export {
  type ParseAnswer,
  parseTemplate,
  type Place,
  type RenderAnswer,
  renderTemplate,
  renderValue,
  type Template,
  type TemplateFailure,
} from './src/template.ts';
export {
  type GoType,
  type PlainData,
  sliceValue,
  STRING,
  stringValue,
  type StructType,
  structValue,
  type Value,
} from './src/values.ts';
export { type ByteString, toBytes } from './src/byte-strings.ts';
export { OUTPUT_BYTES_MAX, WORK_UNITS_MAX } from './src/work-meter.ts';
