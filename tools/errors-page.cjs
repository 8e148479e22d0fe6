const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const INTRODUCTION =
  'Each error of this server has one of these codes. The other pages of the documentation are in the folder docs of its repository, at the tag of this release; this server shows them if it has the built site.';

/** The text of a line: `**Cause**: …` with code in it. Links become text, since their pages may be missing. */
const inline = (text) =>
  escaped(text)
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/`([^`]+)`/g, '<code>$1</code>');

/**
 * The page to which error answers link, as HTML from docs/reference/errors.md: for servers without the site, such as
 * those of the npm package. Each code is the id of its heading.
 */
exports.errorsPage = (markdown) => {
  const sections = markdown.split(/^(?=##+ )/m).slice(1);
  const body = sections.map((section) => {
    const [, level, title, text] = /^(#+) (.*)\n([^]*)$/.exec(section);
    const items = text.split(/^- /m).slice(1);
    const list = items.map((item) => `<li>${inline(item.trim().replace(/\s+/g, ' '))}</li>`).join('\n');
    const heading = `<h${level.length} id="${title.toLowerCase().replaceAll(' ', '-')}">${escaped(title)}</h${level.length}>`;
    return items.length === 0 ? heading : `${heading}\n<ul>\n${list}\n</ul>`;
  });
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Errors</title>
</head>
<body>
<main>
<h1>Errors</h1>
<p>${INTRODUCTION}</p>
${body.join('\n')}
</main>
</body>
</html>
`;
};
