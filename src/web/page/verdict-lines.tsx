/** Why something waits, who can act, and what to do: three lines without a click. */
import { WHO } from '../../domain/reason.ts';
import type { HealthCard } from '../../view/board/health.ts';
import type { BoardVerdict } from '../../view/board/board-verdict.ts';
import { copyText } from './clipboard.ts';
import { forecastHead, splitChange } from './names.ts';
import type { Why } from './words.ts';

/** A command with a button that copies it. */
export const Command = ({ text }: { readonly text: string }) => (
  <span class='command'>
    <code>{text}</code>
    <button type='button' onClick={() => void copyText(text)} aria-label={`Copy: ${text}`}>
      copy
    </button>
  </span>
);

const STAMPS = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** A sentence whose times do not break. */
const Sentence = ({ text }: { readonly text: string }) => (
  <>
    {text.split(STAMPS).map((part, at) =>
      STAMPS.test(part) ? <span key={at} class='stamp'>{part}</span> : part
    )}.
  </>
);

/** The three lines. */
export const WhyLines = ({ why: { reason, sentence, who, action: change, forecast } }: {
  readonly why: Why;
}) => {
  const { action, command } = splitChange(change);
  return (
    <dl class='verdict'>
      <div>
        <dt>Why</dt>
        <dd>
          <Sentence text={sentence} /> <span class='reason'>{reason}</span>
        </dd>
      </div>
      {forecast !== '' && forecast !== sentence && (
        <div>
          <dt>Then</dt>
          <dd>
            <Sentence text={forecastHead(forecast)} />
          </dd>
        </div>
      )}
      <div>
        <dt>Who</dt>
        <dd class='who'>{who}</dd>
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

/** The three lines of a verdict. */
export const VerdictLines = ({ verdict: { canAct, change, ...verdict } }: {
  readonly verdict: BoardVerdict | NonNullable<HealthCard['verdict']>;
}) => <WhyLines why={{ ...verdict, who: WHO[canAct], action: change }} />;
