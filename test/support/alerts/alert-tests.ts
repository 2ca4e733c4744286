/** Which alerts the tests of promtool leave without a case. */
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';

/** Whether each set of series that has checks of this alert lets it fire at some time. */
const outcomesOf = (alert: string, tests: unknown): readonly boolean[] =>
  listOrEmptyAt(tests, 'tests').flatMap((one) => {
    const checks = listOrEmptyAt(one, 'alert_rule_test')
      .filter((check) => textAt(check, 'alertname') === alert);
    if (checks.length === 0) return [];
    return [checks.some((check) => listOrEmptyAt(check, 'exp_alerts').length > 0)];
  });

/** One sentence for each alert that never fires, or always fires, in its tests. */
export const alertsWithoutTests = (rules: unknown, tests: unknown): readonly string[] =>
  listOrEmptyAt(rules, 'groups').flatMap((group) => listOrEmptyAt(group, 'rules'))
    .flatMap((rule) => {
      const alert = textAt(rule, 'alert') ?? '';
      const outcomes = outcomesOf(alert, tests);
      return [
        ...(outcomes.includes(true) ? [] : [`${alert} never fires`]),
        ...(outcomes.includes(false) ? [] : [`${alert} never stays quiet`]),
      ];
    });
