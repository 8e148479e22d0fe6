import DefaultTheme from 'vitepress/theme';

/** The first rule that the path of a page matches says how much a match in this page counts. */
const RANKS = [
  [/\/(tutorials|how-to|reference|api|client)\//, 2],
  [/\/(adr\/|CHANGELOG|performance|reliability)/, 0.25],
];

/** A decision, or a measurement, names most terms of the pages that say how to use them: it is listed after these. */
const boostDocument = (path) => RANKS.find(([pattern]) => pattern.test(path))?.[1] ?? 1;

export default {
  extends: DefaultTheme,
  // Not in the configuration: VitePress would send the function as text, and the server allows no evaluation of text.
  enhanceApp: ({ siteData }) => {
    siteData.value.themeConfig.search.options = { miniSearch: { searchOptions: { boostDocument } } };
  },
};
