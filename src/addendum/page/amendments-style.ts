/** The style of the page, for screens and paper. It stands in the page, whose policy allows it by its hash. */
export const STYLE = `
:root { color-scheme: light; --line: #c4cad3; --soft: #f4f6f9; --dim: #4a5361; --old: #8a1f11; --new: #0b5a2c; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; color: #14181f; background: #fff; font: 1rem/1.5 system-ui, sans-serif; }
header { border-bottom: 2px solid #14181f; margin-bottom: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 0; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0 1rem; }
dl.facts dt { color: var(--dim); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.chain { border: 1px solid var(--line); border-left: .4rem solid var(--new); padding: .6rem 1rem; margin-bottom: 1.5rem; }
.chain.broken { border-left-color: var(--old); background: #fdf1ef; }
.chain p { margin: 0; } .chain strong { font-size: 1.05rem; }
article { border: 1px solid var(--line); border-radius: .3rem; padding: .8rem 1rem; margin: 0 0 1rem; }
article.amendment { border-left: .4rem solid #1f4f99; } article.revision { background: var(--soft); }
.by { color: var(--dim); margin: .15rem 0 0; overflow-wrap: anywhere; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; margin: .6rem 0 0; font-size: 1.05rem; }
table { width: 100%; border-collapse: collapse; margin-top: .7rem; }
caption { text-align: left; color: var(--dim); padding-bottom: .2rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
thead th { background: #e9edf3; } tbody th { font-weight: 600; width: 34%; } td { width: 33%; }
td span.value { white-space: pre-wrap; } td.old { color: var(--old); } td.new { color: var(--new); font-weight: 600; }
.key { display: block; font: .8rem/1.3 ui-monospace, monospace; color: var(--dim); font-weight: 400; overflow-wrap: anywhere; }
.none { color: var(--dim); font-style: italic; font-weight: 400; }
code { font: .85rem ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
.notice { border: 1px solid #8a6100; background: #fff8e5; padding: .5rem 1rem; margin: .7rem 0 0; }
a { color: #14418b; }
footer { color: var(--dim); font-size: .9rem; border-top: 1px solid var(--line); margin-top: 2rem; padding-top: .6rem; }
@media print {
  @page { margin: 1.8cm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  article, .chain { break-inside: avoid-page; } article.amendment { break-inside: auto; }
  tr { break-inside: avoid; } thead { display: table-header-group; }
  article.revision, thead th, .chain.broken, .notice { background: none; }
  a { color: inherit; text-decoration: none; }
}
`;
