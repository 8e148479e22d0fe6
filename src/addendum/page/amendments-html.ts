import { type Html, html } from '../../platform/http/html';
import { AMENDMENT, COMMENT, HISTORY, NOTE } from '../addendum-kinds';
import { type DiffKind } from '../snapshot-diff';
import { type AmendmentsView, type Person, type ViewChange, type ViewEntry } from './amendments-view';
import { styleElement } from './amendments-policy';

/** A table of more rows is read by nobody; that there are more is told, and where. */
const MAX_ROWS = 2000;

/** The page: no scripts, every value escaped and shown whole, in the order in which it was recorded. */
export function amendmentsHtml(view: AmendmentsView): string {
  const { target, entries, left_out: leftOut } = view;
  const page = html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Amendments of ${target}</title>
        ${styleElement()}
      </head>
      <body>
        <header>
          <h1>Amendments of ${target}</h1>
          ${facts(view)}
        </header>
        <main>
          ${chain(view)}
          ${leftOut === 0 ? undefined : html`<p class="notice">The first ${leftOut} addenda are not shown here. <code>svc.sdc.addendum/get-addendums</code> lists all of them.</p>`}
          ${entries.length === 0 ? html`<p>Nothing has been recorded: there are no revisions, amendments, notes or comments.</p>` : undefined}
          ${entries.map((entry) => article(entry, entries))}
        </main>
        <footer>
          <p>All times are in UTC. Addenda stand in the order in which they were recorded, the first one first.</p>
        </footer>
      </body>
    </html> `;
  return page.text;
}

function facts({ stored, entries }: AmendmentsView): Html {
  if (stored === undefined) {
    return html`<p class="notice">This record is not stored any more. What was recorded about it stays.</p>`;
  }
  const revisions = entries.filter(({ revision }) => revision !== undefined).length;
  const rows = [
    ['Type', stored.type],
    ['Status', stored.status],
    ['Patient', stored.patient],
    ['Encounter', stored.encounter],
    ['Revisions', revisions === 0 ? 'none: it was never signed' : String(revisions)],
  ] as const;
  return html`<dl class="facts">
    ${rows.flatMap(([name, value]) =>
      value === undefined
        ? []
        : [
            html`<dt>${name}</dt>
              <dd>${isolated(value)}</dd> `,
          ],
    )}
  </dl>`;
}

function chain({ chain: { intact, length, head, broken } }: AmendmentsView): Html {
  if (intact) {
    return html`<section class="chain" aria-label="Evidence">
      <p><strong>The record is intact.</strong> ${counted(length, 'addendum', 'addenda')} found as recorded.</p>
      <p>Head of the chain: <code>${head}</code></p>
    </section>`;
  }
  const place = broken?.sequence === undefined ? undefined : html` at number ${broken.sequence}`;
  return html`<section class="chain broken" aria-label="Evidence">
    <p><strong>The record was tampered with or damaged${place}.</strong> ${broken?.message}</p>
    <p>
      ${counted(length, 'addendum', 'addenda')} before it found as recorded. What follows is shown as it is stored; do
      not rely on it. Reason: <code>${broken?.reason}</code>
    </p>
  </section>`;
}

function article(entry: ViewEntry, entries: readonly ViewEntry[]): Html {
  const { number, date, user, recorder } = entry;
  const recordedBy = recorder === undefined ? undefined : html`, recorded by ${person(recorder)}`;
  return html`<article class="${kindOf(entry)}" id="a${number}" aria-labelledby="h${number}">
    <h2 id="h${number}">${titleOf(entry)}</h2>
    <p class="by">
      ${person(user)}${recordedBy}, <time datetime="${date}">${readableTime(date)}</time> · number ${number}
    </p>
    ${entry.text === undefined ? undefined : html`<p class="said">${isolated(entry.text)}</p>`}
    ${entry.changes === undefined ? undefined : changesOf(entry, entry.changes)}
    ${entry.revision === undefined ? undefined : unrecorded(entry.revision, entries)}
    ${entry.more === undefined ? undefined : moreOf(entry.more)}
  </article> `;
}

function kindOf({ type, revision }: ViewEntry): string {
  if (type === AMENDMENT) return 'amendment';
  return revision === undefined ? 'other' : 'revision';
}

function titleOf({ type, revision, status, revisions, field }: ViewEntry): Html {
  switch (type) {
    case HISTORY:
      return revision === undefined
        ? html`Status: ${status ?? 'not told'}`
        : html`Revision ${revision}: ${status ?? 'not told'}`;
    case AMENDMENT:
      return html`Amendment: revision ${revisions?.old} to ${revisions?.new}`;
    case NOTE:
      return html`Note`;
    case COMMENT:
      return field === undefined
        ? html`Comment`
        : html`Comment on ${isolated(field.label)} <span class="key">${isolated(field.path.join(' / '))}</span>`;
    default:
      return html`${isolated(type)}`;
  }
}

function changesOf({ revisions }: ViewEntry, changes: readonly ViewChange[]): Html {
  if (changes.length === 0) return html`<p>The two revisions are the same.</p>`;
  const more = changes.length - MAX_ROWS;
  return html`<table>
      <caption>
        ${counted(changes.length, 'field', 'fields')} changed from revision ${revisions?.old} to revision
        ${revisions?.new}
      </caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        ${changes.slice(0, MAX_ROWS).map(row)}
      </tbody>
    </table>
    ${more > 0 ? html`<p class="notice">${more} more changed fields are not shown here. This address with <code>?_format=json</code> lists all of them.</p>` : undefined}`;
}

function row(change: ViewChange): Html {
  const { label, path, comments } = change;
  const isKindTold = change.old !== undefined && change.new !== undefined && change['old-kind'] !== change['new-kind'];
  return html`<tr>
    <th scope="row">
      ${isolated(label)}<span class="key">${isolated(path.join(' / '))}</span
      >${comments.map((number) => html`<a class="key" href="#a${number}">Comment, number ${number}</a>`)}
    </th>
    <td class="old">${value(change.old, change['old-kind'], change['old-unit'], isKindTold)}</td>
    <td class="new">${value(change.new, change['new-kind'], change['new-unit'], isKindTold)}</td>
  </tr> `;
}

function value(
  text: string | undefined,
  kind: DiffKind | undefined,
  unit: string | undefined,
  isKindTold: boolean,
): Html {
  if (text === undefined) return html`<span class="none">not there</span>`;
  if (kind === undefined && text === '') return html`<span class="none">empty text</span>`;
  if (kind === 'null') return html`<span class="none">no value (null)</span>`;
  if (kind === 'object' || kind === 'array')
    return html`<span class="none">empty ${kind === 'object' ? 'group' : 'list'}</span>`;
  const told = isKindTold ? html` <span class="none">(${kind ?? 'text'})</span>` : undefined;
  return html`<span class="value">${isolated(text)}${unit === undefined ? undefined : html` ${isolated(unit)}`}</span
    >${told}`;
}

/** A revision that no Amendment compares with the one before. */
function unrecorded(revision: number, entries: readonly ViewEntry[]): Html | undefined {
  if (revision === 1 || entries.some(({ revisions }) => revisions?.new === revision)) return undefined;
  return html`<p class="notice">
    What changed since revision ${revision - 1} was not recorded as an Amendment. Both contents are kept in their
    History addenda.
  </p>`;
}

const moreOf = (more: Readonly<Record<string, string>>): Html =>
  html`<dl class="facts">
    ${Object.entries(more).map(
      ([name, text]) =>
        html`<dt>${isolated(name)}</dt>
          <dd><code>${isolated(text)}</code></dd> `,
    )}
  </dl>`;

const person = ({ reference, display }: Person): Html =>
  display === undefined ? isolated(reference) : html`${isolated(display)} (${isolated(reference)})`;

/** Text of others: it cannot turn round what stands beside it. */
const isolated = (text: string): Html => html`<bdi>${text}</bdi>`;

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' });

function readableTime(date: string): string {
  const time = Date.parse(date);
  return Number.isNaN(time) ? date : `${TIME.format(time)} UTC`;
}
