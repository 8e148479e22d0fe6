import { RpcRefusal } from '../../rpc/rpc-refusal';

export interface Transition {
  /** The verb in error messages, such as `saved`. */
  readonly verb: string;
  /** The statuses in which the method may change a document, each with the next status. */
  readonly next: ReadonlyMap<unknown, DocumentStatus>;
  /** Advice for a document that is already signed. */
  readonly ifSigned: string;
}

const STATUSES = ['draft', 'in-progress', 'completed', 'in-amendment', 'amended', 'canceled'] as const;

export type DocumentStatus = (typeof STATUSES)[number];

export const SAVE: Transition = {
  verb: 'saved',
  next: new Map([
    ['draft', 'in-progress'],
    ['in-progress', 'in-progress'],
    ['in-amendment', 'in-amendment'],
  ]),
  ifSigned: ' Amend it first.',
};

export const SIGN: Transition = {
  verb: 'signed',
  next: new Map([
    ['draft', 'completed'],
    ['in-progress', 'completed'],
    ['in-amendment', 'amended'],
  ]),
  ifSigned: ' It is signed already; amend it to sign it again.',
};

export const AMEND: Transition = {
  verb: 'amended',
  next: new Map([
    ['completed', 'in-amendment'],
    ['amended', 'in-amendment'],
    ['in-amendment', 'in-amendment'],
  ]),
  ifSigned: '',
};

/** @throws RpcRefusal for a status in which the method may not change the document */
export function statusAfter({ verb, next, ifSigned }: Transition, status: unknown): DocumentStatus {
  const found = next.get(status);
  if (found !== undefined) return found;
  const known = STATUSES.find((one) => one === status);
  const document = known === undefined ? 'A document without a known status' : `A document that is ${known}`;
  const hint = known === 'completed' || known === 'amended' ? ifSigned : '';
  throw new RpcRefusal(`${document} cannot be ${verb}, only one that is ${[...next.keys()].join(', ')}.${hint}`, {
    code: 'document-status',
    type: 'sdc.error/status',
  });
}
