import { type Schemas } from 'svc-health-client';

export interface Finding {
  readonly name: string;
  readonly grade: 'pass' | 'warn' | 'fail';
  readonly message: string;
}

type Answer = Schemas['SvcTopicDestinationTestAnswer'];

/** The findings of `$test`. */
export function findingsOf({ parameter = [] }: Answer): readonly Finding[] {
  return parameter.flatMap((one) => {
    if (!('part' in one)) return [];
    const values = new Map<string, string>(
      one.part.map((part) => [part.name, 'valueCode' in part ? part.valueCode : part.valueString]),
    );
    const grade = (['pass', 'warn', 'fail'] as const).find((known) => known === values.get('grade')) ?? 'fail';
    return [{ name: values.get('name') ?? '', grade, message: values.get('message') ?? '' }];
  });
}
