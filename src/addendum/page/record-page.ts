import { AMENDMENT, COMMENT, HISTORY, NOTE } from '../types/addendum-kinds';
import { type Verification } from '../chain/chains';
import { Html, markup, NOTHING } from './html';
import { STYLE } from './page-style';
import { CHANGES, table, value, VALUES } from './page-table';
import { readableKey } from './readable-key';
import {
  type AddendumHead,
  type FieldAtTheTime,
  type Lost,
  type Person,
  type RecordPrinter,
  type Remark,
  type Revision,
  type StoredTarget,
  type UnsignedChanges,
} from './record';

export const RECORD_PAGE: RecordPrinter = {
  *head({ target, readAt, stored, isDeleted, chain }) {
    const name = `${target.resourceType} ${target.id}`;
    yield markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="robots" content="noindex" />
<title>Amendments of ${name}${chain.intact ? '' : ' – NOT INTACT'}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#record">Skip to the record</a>
<header>
<p class="kind">Record of amendments</p>
<h1>${name}</h1>
</header>
<main id="record">${chainState(chain)}
<section aria-labelledby="now">
<h2 id="now">The ${nounOf(target.resourceType)} now</h2>${stored === undefined ? notStored(isDeleted) : storedFacts(stored)}
<p class="soft">Read on ${timeOf(readAt)}. All times are in UTC.</p>
</section>
`.text;
  },

  *section(part, isFirst) {
    yield isFirst ? '' : '</section>\n';
    if (part === undefined)
      yield markup`<section class="revision" aria-labelledby="before">
<h2 id="before">Before the first signature</h2>
`.text;
    else yield* part.kind === 'revision' ? revision(part) : unsigned(part);
  },

  *addendum(part) {
    if (part.kind === 'remark') yield* remark(part);
    else yield lost(part).text;
  },

  *end(count) {
    yield markup`${
      count === 0
        ? markup`<section aria-labelledby="none"><h2 id="none">No addenda</h2><p>Nothing was signed, amended, noted or commented here.</p></section>
`
        : new Html('</section>\n')
    }</main>
<footer>
<p>End of the record: ${counted(count, 'addendum', 'addenda')} shown, none left out.</p>
</footer>
</body>
</html>
`.text;
  },
};

function* revision({ number, head, status, rows, refusal }: Revision): Generator<string> {
  const id = `revision-${number}`;
  yield markup`<section class="revision" aria-labelledby="${id}">
<h2 id="${id}">Revision ${number}: ${status ?? 'signed'}</h2>${authorship(head, 'Signed')}
`.text;
  if (number === 1) yield* table(rows, 'Values as they were signed in revision 1', VALUES);
  else yield* table(rows, `Changes from revision ${number - 1} to revision ${number}`, CHANGES, refusal);
}

function* unsigned({ since, status, rows, refusal }: UnsignedChanges): Generator<string> {
  yield markup`<section class="revision" aria-labelledby="unsigned">
<h2 id="unsigned">Not signed: changes since revision ${since}</h2>
<p class="warning">The content stored now${status === undefined ? NOTHING : markup` (status ${value({ text: status })})`} differs from the content signed as revision ${since}. Nobody has signed these changes.</p>
`.text;
  yield* table(rows, `Changes since revision ${since}, not signed`, CHANGES, refusal);
}

function chainState({ intact, length, head, broken }: Verification): Html {
  if (intact) {
    const kept = markup`<p>Last link: <code class="hash">${head}</code>. Compare it with one that was kept elsewhere.</p>`;
    return markup`<section class="state intact" aria-labelledby="chain">
<h2 id="chain">Intact: ${length === 0 ? 'there are no addenda' : `all ${counted(length, 'addendum is', 'addenda are')} as recorded`}</h2>
<p>Each addendum is a link of a chain of SHA-256 hashes. Every link was checked for this page.</p>${length === 0 ? NOTHING : kept}</section>`;
  }
  const place = broken?.sequence === undefined ? 'The fault' : `The fault at addendum number ${broken.sequence}`;
  const which = broken?.addendum === undefined ? NOTHING : markup` (<code>${broken.addendum.id}</code>)`;
  return markup`<section class="state broken" aria-labelledby="chain" role="alert">
<h2 id="chain">NOT INTACT: this record was changed after it was made</h2>
<p><strong>${place}${which}: ${broken?.message}</strong></p>
<p>${length === 0 ? 'No addendum is proven.' : `Only the first ${counted(length, 'addendum is', 'addenda are')} proven to be as recorded.`} Do not rely on anything marked “Not proven”; ask the operator of this server for the backups.</p>
<p>Reason: <code>${broken?.reason}</code>. Last intact link: <code class="hash">${head}</code>.</p>
</section>`;
}

const notStored = (isDeleted: boolean): Html =>
  markup`<p class="warning">${isDeleted ? 'It was deleted' : 'No version of it is stored on this server'}. Its addenda stay, and are shown below.</p>`;

const storedFacts = ({ versionId, lastUpdated, status, facts }: StoredTarget): Html =>
  markup`<dl class="facts">
<dt>Status</dt>
<dd>${status === undefined ? 'none' : value({ text: status })}</dd>${facts.map(
    ({ label, new: now }) => markup`
<dt>${label.join(' › ')}</dt>
<dd>${value(now)}</dd>`,
  )}
<dt>Version</dt>
<dd>${versionId}, stored on ${timeOf(lastUpdated)}</dd>
</dl>`;

/** Prints the author and time of an addendum, and the caller who recorded it if the call named another author. */
function authorship(head: AddendumHead, verb: string): Html {
  const { sequence, addendum, user, recorder, date, isProven } = head;
  const isOther = recorder !== undefined && (user?.id !== recorder.id || user.resourceType !== recorder.resourceType);
  return markup`${isProven ? NOTHING : markup`<p class="warning">Not proven: the chain does not vouch for this addendum.</p>`}
<p>${verb} by ${personNameOf(user)}${isOther ? markup`, <strong>recorded by ${personNameOf(recorder)}</strong>` : NOTHING}, on ${timeOf(date)}</p>
<p class="soft">Addendum number ${sequence}, <code class="hash">${addendum.id}</code></p>`;
}

function personNameOf(person: Person | undefined): Html {
  if (person === undefined) return markup`nobody named`;
  const { display, resourceType, id } = person;
  const reference = `${resourceType}/${id}`;
  return display === undefined
    ? markup`<bdi>${reference}</bdi>`
    : markup`<bdi>${display}</bdi> (<bdi>${reference}</bdi>)`;
}

const TITLES: ReadonlyMap<string, string> = new Map([
  [NOTE, 'Note'],
  [COMMENT, 'Comment'],
  [HISTORY, 'Status'],
  [AMENDMENT, 'Amendment'],
]);

function* remark({ head, revision, text, status, about, isAsShown, rows }: Remark): Generator<string> {
  const { type, sequence } = head;
  const title = TITLES.get(type) ?? readableKey(type.split('/').at(-1) ?? type);
  const id = `addendum-${sequence}`;
  const subject =
    type === HISTORY
      ? markup`: ${status ?? 'none'}`
      : about === undefined
        ? NOTHING
        : markup` on ${about.label.join(' › ')}`;
  yield markup`<article class="remark" aria-labelledby="${id}">
<h3 id="${id}">${title}${subject}</h3>
${[
  TITLES.has(type) ? NOTHING : markup`<p class="soft">Type <code>${type}</code></p>`,
  type === COMMENT ? markup`<p class="soft">Informal, without legal force</p>` : NOTHING,
  about === undefined ? NOTHING : field(about, revision),
  text === undefined ? NOTHING : markup`<blockquote class="said">${value({ text })}</blockquote>`,
  isAsShown === undefined ? NOTHING : amendment(isAsShown, revision),
  type === HISTORY ? markup`<p>Nothing new was signed with this step.</p>` : NOTHING,
]}
${authorship(head, type === HISTORY || type === AMENDMENT ? 'Recorded' : 'Written')}
`.text;
  yield* table(
    rows,
    isAsShown === false ? 'What this Amendment lists' : `More of this ${title.toLowerCase()}`,
    isAsShown === false ? CHANGES : VALUES,
    undefined,
    true,
  );
  yield '</article>\n';
}

function field({ path, value: then, isFound }: FieldAtTheTime, revision: number | undefined): Html {
  const where = revision === undefined ? 'No revision was signed yet' : `In revision ${revision}`;
  const what = !isFound
    ? markup`there is no such field`
    : then === undefined
      ? markup`no single value`
      : markup`it was ${value(then)}`;
  return markup`<p>${where}${revision === undefined && isFound ? NOTHING : markup`: ${what}`}. <code class="path">${path.join(' / ')}</code></p>`;
}

function amendment(isAsShown: boolean, revision: number | undefined): Html {
  if (isAsShown && revision !== undefined)
    return markup`<p>Lists the changes from revision ${revision - 1} to revision ${revision}, exactly as shown above.</p>`;
  return markup`<p class="warning">Its list differs from the changes between the two revisions above. Both are shown.</p>`;
}

const lost = ({ sequence, id, reason }: Lost): Html =>
  markup`<article class="remark" aria-labelledby="addendum-${sequence}">
<h3 id="addendum-${sequence}">Addendum number ${sequence} cannot be shown</h3>
<p class="warning">${reason} <code class="hash">${id}</code></p>
</article>
`;

const FULL = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});

function timeOf(date: string | undefined): Html {
  const time = Date.parse(date ?? '');
  if (date === undefined || Number.isNaN(time)) return markup`an unknown date${date === undefined ? '' : ` (${date})`}`;
  return markup`<time datetime="${date}">${FULL.format(time)} UTC</time>`;
}

const nounOf = (resourceType: string): string => (resourceType === 'SDCWorkflow' ? 'workflow' : 'document');

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
