/** The header of every card of the drain board. */
import type { ComponentChildren } from 'preact';
import { Name } from './name.tsx';

/** The name of a card links to its actor; the rest follows it. */
export const CardHeader = ({ href, item, text, command, children }: {
  readonly href: string;
  /** What `y` copies. */
  readonly item: string;
  readonly text: string;
  readonly command: string;
  readonly children: ComponentChildren;
}) => (
  <header>
    <h3>
      <a href={href} data-item={item} data-command={command}>
        <Name text={text} />
      </a>
    </h3>
    {children}
  </header>
);
