import { ServiceError } from '../platform/errors/service-error';

/** A position in the feed of changes: the client has read all changes up to a transaction. */
export interface FeedBookmark {
  /** The transaction history to which the transaction belongs; absent at the beginning of the feed. */
  readonly history?: string;
  /** A decimal number of 64 bits. */
  readonly transaction: string;
}

const START_AGAIN = 'Start again with _txid=0, which lists everything that is stored, deletions included.';

/** Prints a bookmark as the text that links hold. Its content has no meaning for clients. */
export const printBookmark = ({ history, transaction }: Required<FeedBookmark>): string => `${history}-${transaction}`;

/**
 * Reads `_txid`: 0, or the value from the link `monitor` of a history.
 * @throws ServiceError 'gone' for a number alone, as links of version 0.1.0 have it: its cluster is unknown
 * @throws ServiceError 'invalid' for a text that this server did not make
 */
export function parseBookmark(text: string): FeedBookmark {
  if (text === '0') return { transaction: '0' };
  const [, history, transaction] = /^(\d{1,20}-[0-9A-F]{8}-\d{1,10}(?:-[0-9a-f]{32})?)-(\d{1,18})$/.exec(text) ?? [];
  if (history !== undefined && transaction !== undefined) return { history, transaction };
  if (/^\d{1,18}$/.test(text)) {
    throw new ServiceError(
      'history-position-expired',
      `_txid is a number of an earlier version of this server. ${START_AGAIN}`,
    );
  }
  throw new ServiceError('page-link-invalid', '_txid must be 0, or what a "monitor" link of a history names.');
}

/**
 * The error for a bookmark of another transaction history. Numbers of transactions are valid only within one history of
 * one cluster. With a number of another history, the feed would skip versions. So the client must read the feed from
 * the beginning.
 */
export const foreignBookmark = (): ServiceError =>
  new ServiceError(
    'history-position-expired',
    `_txid belongs to another history of this database: it was restored, moved, or failed over since. ${START_AGAIN}`,
  );
