const { default: Sequencer } = require('@jest/test-sequencer');

/** The names of the projects; the project with the longest spec files is first. */
const ORDER = ['faults', 'e2e', 'unit'];

/**
 * Runs long spec files first and the short unit specs last, so that all workers end at about the same time. Jest learns
 * durations only from its last run. In a fresh clone it starts with the largest files: delivery-defects, which takes a
 * minute, and the upgrade specs, whose files have 81 bytes, would run alone at the end.
 */
module.exports = class ProjectsInOrder extends Sequencer {
  sort(tests) {
    const rank = ({ context }) => ORDER.indexOf(context.config.displayName?.name);
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
};
