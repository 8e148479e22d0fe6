import { localKey } from '../../fhir/reference';
import { printPosition } from '../../store/history-position';
import { type DryRunRequest } from './dry-run-request';
import { type DryRunResult, type TriggerVerdict, type UnmetPart, type VersionVerdict } from './dry-run-result';

const HOUR_MILLISECONDS = 3_600_000;
/**
 * How many failed parts of triggers are listed, the most frequent first. A topic may have 100 triggers with many
 * clauses each.
 */
const MOST_UNMET = 20;

interface Part {
  readonly name: string;
  readonly [value: string]: unknown;
}

/**
 * Returns the response of `$dry-run`: first the counts, then one part `version` for each listed version, oldest first.
 */
export function dryRunParameters({ start, end, after }: DryRunRequest, result: DryRunResult): object {
  const { listed, unmet, examined, matchedAt, undecided, next } = result;
  const from = after?.updatedAt ?? start;
  const until = next?.updatedAt ?? end;
  const busiest = busiestHourOf(matchedAt);
  const parameter: Part[] = [
    { name: 'start', valueInstant: from.toISOString() },
    { name: 'end', valueInstant: until.toISOString() },
    { name: 'isComplete', valueBoolean: next === undefined },
    { name: 'versionsExamined', valueInteger: examined },
    { name: 'events', valueInteger: matchedAt.length },
    { name: 'undecided', valueInteger: undecided },
    { name: 'eventsPerHour', valueDecimal: perHour(matchedAt.length, until.getTime() - from.getTime()) },
    ...(busiest === undefined ? [] : [{ name: 'busiestHour', part: busiest }]),
    ...(next === undefined ? [] : [{ name: 'next', valueString: printPosition(next) }]),
    ...unmet.slice(0, MOST_UNMET).map(unmetParameter),
    ...listed.map(versionParameter),
  ];
  return { resourceType: 'Parameters', parameter };
}

function perHour(events: number, milliseconds: number): number {
  if (milliseconds <= 0) return 0;
  return Math.round((events / (milliseconds / HOUR_MILLISECONDS)) * 100) / 100;
}

function busiestHourOf(times: readonly Date[]): readonly Part[] | undefined {
  const counts = new Map<number, number>();
  for (const time of times) {
    const hour = Math.floor(time.getTime() / HOUR_MILLISECONDS);
    counts.set(hour, (counts.get(hour) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  if (most === undefined) return undefined;
  const [hour, events] = most;
  return [
    { name: 'start', valueInstant: new Date(hour * HOUR_MILLISECONDS).toISOString() },
    { name: 'events', valueInteger: events },
  ];
}

function versionParameter({ version, interaction, triggers }: VersionVerdict): Part {
  const fires = triggers.some(({ decision }) => decision !== false);
  return {
    name: 'version',
    part: [
      {
        name: 'reference',
        valueReference: { reference: `${localKey(version.type, version.id)}/_history/${version.version}` },
      },
      { name: 'time', valueInstant: version.updatedAt.toISOString() },
      { name: 'interaction', valueCode: interaction },
      { name: 'fires', valueBoolean: fires },
      ...triggers.map(triggerPart),
    ],
  };
}

function triggerPart({ index, decision, reason }: TriggerVerdict): Part {
  return {
    name: 'trigger',
    part: [
      { name: 'index', valueInteger: index },
      { name: 'fires', valueBoolean: decision !== false },
      ...(decision === undefined
        ? [{ name: 'undecided', valueString: 'The criterion cannot be evaluated, or takes too long.' }]
        : []),
      ...(reason === undefined ? [] : reasonParts(reason)),
    ],
  };
}

const unmetParameter = ({ index, reason, versions }: UnmetPart): Part => ({
  name: 'unmet',
  part: [{ name: 'index', valueInteger: index }, ...reasonParts(reason), { name: 'versions', valueInteger: versions }],
});

const reasonParts = ({ part, text }: UnmetPart['reason']): readonly Part[] => [
  { name: 'failed', valueCode: part },
  { name: part === 'fhirPathCriteria' ? 'clause' : 'supported', valueString: text },
];
