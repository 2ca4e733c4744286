/** A name that is shortened in its middle; the tooltip has all of it. */
import { splitName } from './names.ts';

/** A name in one line. */
export const Name = ({ text }: { readonly text: string }) => {
  const [head, tail] = splitName(text);
  return (
    <span class='middle' title={text}>
      <span class='middle-head'>{head}</span>
      <span class='middle-tail'>{tail}</span>
    </span>
  );
};
