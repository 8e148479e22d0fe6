import { Injectable } from '@nestjs/common';
import { FHIR_ERRORS } from '../../fhir/operation-outcome';
import { TransactionConflict } from '../../platform/database/database-error';
import { type ErrorKind, ServiceError } from '../../platform/errors/service-error';
import { type BundleEntry } from './bundle';
import { type BundleCall } from './bundle-call';
import { type RoutedEntry } from './entry-answer';
import { atEntry } from './entry-error';
import { EntryRoutes, answeredEntry } from './entry-routes';

/** Reads and searches of a transaction: the route of each answers it, inside of the transaction. */
@Injectable()
export class EntryReads {
  constructor(private readonly routes: EntryRoutes) {}

  /**
   * @param mostCharacters that the answer may have
   * @throws ServiceError of the kind that the route answered with: one failure is the failure of the transaction.
   */
  read(entry: BundleEntry, call: BundleCall, mostCharacters: number): Promise<RoutedEntry> {
    return atEntry(entry.index, async () => {
      if (call.isSystem)
        throw new ServiceError('invalid', 'This Bundle can only write.', { expression: 'request.method' });
      const answer = await this.routes.send(entry, call, mostCharacters);
      if (answer.refusal !== undefined) throw answer.refusal;
      if (answer.status < 400) return answeredEntry(entry, answer);
      if (answer.status === FHIR_ERRORS.busy.status)
        throw new TransactionConflict('A read of a transaction was refused');
      const kind = KINDS.get(answer.status);
      if (kind === undefined) throw new Error(`An inner request was answered with ${answer.status}`);
      throw new ServiceError(kind, diagnosticsOf(answer.text), { expression: 'request' });
    });
  }
}

const KINDS = new Map(Object.entries(FHIR_ERRORS).map(([kind, { status }]) => [status, kind as ErrorKind] as const));

function diagnosticsOf(outcome: string): string {
  const { issue } = JSON.parse(outcome) as { issue?: readonly { diagnostics?: string }[] };
  return issue?.[0]?.diagnostics ?? 'The entry was refused.';
}
