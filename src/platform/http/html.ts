/** Text that is markup; anything else is escaped where it is put into markup. */
export class Html {
  constructor(readonly text: string) {}
}

type Content = Html | string | number | undefined | readonly Html[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Makes markup: what stands in the template is taken as it is, every value is escaped, for text and quoted attributes alike. */
export function html(template: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(template.map((part, index) => part + markupOf(values[index])).join(''));
}

function markupOf(value: Content): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
