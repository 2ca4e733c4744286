/** The values of the chart about monitoring. */
import { DURATION, group, SWITCH, TEXTS_BY_KEY, value } from './chart-value.ts';

const scraped = (kind: string) =>
  group(`A ${kind} of the Prometheus Operator for each Deployment.`, {
    enabled: value('Whether there is one.', SWITCH, false),
    interval: value('How often metrics are read.', DURATION, '30s'),
    labels: value('Labels by which your Prometheus selects it.', TEXTS_BY_KEY, {}),
  });

/** Off by default: the kinds of the Prometheus Operator may be absent. */
export const MONITORING = group('Metrics and alerts.', {
  serviceMonitor: scraped('ServiceMonitor, with its Service,'),
  podMonitor: scraped('PodMonitor'),
  prometheusRule: group('The alerts of docs/tasks/alerts.yaml as a PrometheusRule.', {
    enabled: value('Whether there is one.', SWITCH, false),
    labels: value('Labels by which your Prometheus selects it.', TEXTS_BY_KEY, {}),
  }),
  dashboard: group('A Grafana dashboard of all metrics, in a ConfigMap.', {
    enabled: value('Whether there is one.', SWITCH, false),
    labels: value('Labels by which the sidecar of your Grafana selects it.', TEXTS_BY_KEY, {
      grafana_dashboard: '1',
    }),
  }),
});
