/** Why something waits, who can act, and what to do: three lines without a click. */
import { WHO } from '../../domain/reason.ts';
import type { HealthCard } from '../../view/board/health.ts';
import type { BoardVerdict } from '../../view/board/board-verdict.ts';
import { copyText } from './clipboard.ts';
import { forecastHead, splitChange } from './names.ts';

/** A command with a button that copies it. */
export const Command = ({ text }: { readonly text: string }) => (
  <span class='command'>
    <code>{text}</code>
    <button type='button' onClick={() => void copyText(text)} aria-label={`Copy: ${text}`}>
      copy
    </button>
  </span>
);

/** The three lines. */
export const VerdictLines = ({ verdict }: {
  readonly verdict: BoardVerdict | NonNullable<HealthCard['verdict']>;
}) => {
  const { action, command } = splitChange(verdict.change);
  return (
    <dl class='verdict'>
      <div>
        <dt>Why</dt>
        <dd>
          {verdict.sentence}. <span class='reason'>{verdict.reason}</span>
        </dd>
      </div>
      {verdict.forecast !== '' && verdict.forecast !== verdict.sentence && (
        <div>
          <dt>Then</dt>
          <dd>{forecastHead(verdict.forecast)}.</dd>
        </div>
      )}
      <div>
        <dt>Who</dt>
        <dd class='who'>{WHO[verdict.canAct]}</dd>
      </div>
      {action !== '' && (
        <div>
          <dt>Do</dt>
          <dd>
            {action}.{command !== '' && <Command text={command} />}
          </dd>
        </div>
      )}
    </dl>
  );
};
