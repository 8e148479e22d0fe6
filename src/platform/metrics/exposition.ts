import { type MetricFamily, type Sample } from './metric-family';

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The Prometheus text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export const expositionOf = (families: readonly MetricFamily[]): string => families.map(familyText).join('');

const familyText = ({ name, type, help, samples }: MetricFamily): string =>
  `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n` +
  samples.map((sample) => sampleLine(name, sample)).join('');

const sampleLine = (name: string, { suffix, labels = {}, value }: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapedLabel(text)}"`);
  return `${name}${suffix ?? ''}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}\n`;
};

const escapedHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapedLabel = (text: string): string => escapedHelp(text).replaceAll('"', '\\"');

const numberText = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
