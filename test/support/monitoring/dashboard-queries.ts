/** The queries of the dashboard's panels, as Prometheus takes them. */
import { readFileSync } from 'node:fs';
import { listOrEmptyAt, parseJson, textAt } from '../../../src/domain/json.ts';

/** What one panel draws. */
export interface PanelQuery {
  readonly title: string;
  readonly expr: string;
  readonly unit: string;
  readonly legend: string;
}

const DASHBOARD = new URL('../../../charts/tidegate/files/dashboard.json', import.meta.url);

/** All panels with queries; Grafana's interval becomes `interval`. */
export const dashboardQueries = (interval: string): readonly PanelQuery[] =>
  listOrEmptyAt(parseJson(readFileSync(DASHBOARD, 'utf8')), 'panels').flatMap((panel) =>
    listOrEmptyAt(panel, 'targets').map((target) => ({
      title: textAt(panel, 'title') ?? '',
      expr: (textAt(target, 'expr') ?? '').replaceAll('$__rate_interval', interval),
      unit: textAt(panel, 'fieldConfig', 'defaults', 'unit') ?? '',
      legend: textAt(target, 'legendFormat') ?? '',
    }))
  );
