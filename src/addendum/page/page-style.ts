import { createHash } from 'node:crypto';
import { pagePolicy } from '../../platform/http/security-headers';

/** All colors have a contrast of at least 4.5 to their background (WCAG 2.2, AA): in light, in dark, and in print. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1a1f24;--soft:#4a5560;--ground:#fff;--line:#aab4bd;--head:#eef2f5;--link:#0b5394;
--good:#12583a;--goodground:#e8f5ee;--bad:#8c1414;--badground:#fdecec;--old:#8c1414;--new:#12583a}
@media (prefers-color-scheme:dark){:root{--ink:#eceff1;--soft:#b8c2cb;--ground:#14181c;--line:#4d5963;--head:#222a31;--link:#8ec5ff;
--good:#8fe0b4;--goodground:#12291f;--bad:#ffb3b3;--badground:#3a1616;--old:#ffb3b3;--new:#8fe0b4}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;color:var(--ink);background:var(--ground);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:.2rem 0 1rem}h2{font-size:1.25rem;line-height:1.3;margin:0 0 .5rem}h3{font-size:1rem;margin:0 0 .3rem}
p{margin:.3rem 0}a{color:var(--link)}
.skip{position:absolute;left:-100vw}.skip:focus{position:static}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.soft,.path,.kind{color:var(--soft)}.kind{margin:0}.path,.exact,.hash{font:.85rem/1.4 ui-monospace,monospace}.path{display:block;font-weight:400}.values th:first-child{width:40%}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.5rem 0}.facts dt{color:var(--soft)}.facts dd{margin:0}
.state{border:2px solid;border-radius:.4rem;padding:.8rem 1rem;margin:1rem 0}
.intact{border-color:var(--good);background:var(--goodground)}.intact h2{color:var(--good)}
.broken{border-width:6px;border-color:var(--bad);background:var(--badground)}.broken h2{color:var(--bad);font-size:1.5rem}
.revision{border-top:3px solid var(--ink);margin-top:2rem;padding-top:1rem}
.remark{border-left:4px solid var(--line);padding:.2rem 0 .2rem .8rem;margin:1.2rem 0}
.warning{border:2px solid var(--bad);background:var(--badground);color:var(--bad);padding:.4rem .7rem;font-weight:600}
.said{margin:.4rem 0}
table{border-collapse:collapse;width:100%;margin:.8rem 0;table-layout:fixed}caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{border:1px solid var(--line);padding:.35rem .5rem;text-align:left;vertical-align:top}bdi{white-space:pre-wrap}thead th{background:var(--head)}
tbody th{font-weight:600}.what{display:block;font-weight:400;font-size:.9rem}
ol{margin:0;padding-left:1.4rem}blockquote{margin-left:0}
del{color:var(--old);text-decoration:line-through}ins{color:var(--new);text-decoration:underline;text-underline-offset:.15em}
.exact{display:block;color:var(--soft)}
footer{border-top:1px solid var(--line);margin-top:2rem;padding-top:.5rem;color:var(--soft)}
@media (max-width:30rem){.changes thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}.changes tr{display:block;border:1px solid var(--line);margin-bottom:.6rem}.changes tbody th,.changes td{display:block;border:0}.changes td::before{content:attr(data-label) ": ";color:var(--soft)}body{padding:.7rem;font-size:.95rem}.facts{grid-template-columns:1fr;gap:0}.facts dd{margin:0 0 .4rem}th,td{padding:.3rem}}
@page{size:A4;margin:16mm 14mm 18mm;@bottom-right{content:"Page " counter(page) " of " counter(pages);font:9pt sans-serif}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#333;--ground:#fff;--line:#777;--head:#eee;--link:#000;--good:#000;--goodground:#fff;--bad:#000;--badground:#fff;--old:#000;--new:#000}
body{max-width:none;padding:0;font-size:10pt}.skip{display:none}thead{display:table-header-group}tr,.state,.facts{break-inside:avoid}.remark{break-inside:avoid-page}h2,h3,caption{break-after:avoid}
ins{font-weight:700}}
`.replaceAll('\n', '');

/** Headers that forbid scripts, requests, forms and frames, and allow only the style of the page itself. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...pagePolicy(`style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`),
  'Referrer-Policy': 'no-referrer',
};
