import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { METRIC_PATHS } from '../../src/platform/metrics/metric-source';
import { startTestApp, type TestApp } from '../../testing/test-app';
import { metricsUrlOf, scrapeOf } from '../support/scrape';
import { codeIn, rowsOf, sectionOf, textOf } from './documents';

interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

const rules = (load(textOf('deploy/prometheus-rules.yaml')) as Rules).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(textOf('deploy/grafana-dashboard.json')) as Dashboard;

/** Names of our metrics in an expression, without the suffixes that a histogram adds. */
const namesIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:svc|process|nodejs)_\w+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));

describe('O7: alerts and panels in deploy/', () => {
  let app: TestApp;
  let families: ReadonlySet<string>;
  let atStart: string;
  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_METRICS_PORT: '0' } });
    atStart = (await scrapeOf(metricsUrlOf(app), '/metrics')).text;
    await app.post('/auth/token', { grant_type: 'password' }, { authorization: null });
    const scrapes = await Promise.all(METRIC_PATHS.map((path) => scrapeOf(metricsUrlOf(app), path)));
    families = new Set(scrapes.flatMap(({ types }) => [...types.keys()]));
  });
  afterAll(() => app.close());

  it.each(rules)('use existing metrics, and have a section in the runbook: $alert', ({ alert, expr, annotations }) => {
    expect(namesIn(expr).filter((name) => !families.has(name))).toEqual([]);
    expect(annotations.runbook).toBe(`docs/how-to/runbook.md#${alert.toLowerCase()}`);
    expect(sectionOf('docs/how-to/runbook.md', alert).trim().length).toBeGreaterThan(20);
  });

  it.each(panels)('use existing metrics: panel "$title"', ({ targets }) => {
    const named = targets.flatMap(({ expr }) => namesIn(expr));
    expect([named.length > 0, named.filter((name) => !families.has(name))]).toEqual([true, []]);
  });

  it('detect the first error of each class of SvcDatabaseErrors, since each count is exported as 0 at the start', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'SvcDatabaseErrors') ?? {};
    const classes = /class=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? [];
    expect(classes.length).toBeGreaterThan(0);
    const missing = classes.filter((name) => !atStart.includes(`svc_database_errors_total{class="${name}"} 0\n`));
    expect(missing).toEqual([]);
  });

  it('match the alerts of the runbook', () => {
    const [, alerts = ''] = /^## Alerts$([\s\S]*?)^## /m.exec(textOf('docs/how-to/runbook.md')) ?? [];
    expect([...alerts.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)).toEqual(rules.map(({ alert }) => alert));
  });

  it('are documented: docs/reference/monitoring.md lists exactly the existing metrics', () => {
    const documented = rowsOf('docs/reference/monitoring.md', 'Metrics').flatMap(([names = '']) => {
      const [first = '', ...others] = codeIn(names);
      return [first, ...others.map((name) => (name.startsWith('_') ? first.replace(/_[a-z]+(_total)?$/, name) : name))];
    });
    expect([...families].filter((name) => !documented.includes(name))).toEqual([]);
    expect(documented.filter((name) => !families.has(name))).toEqual([]);
  });
});
