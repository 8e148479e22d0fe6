import { describe, expect, it } from '@jest/globals';
import { expositionOf } from './exposition';

describe('the Prometheus exposition', () => {
  it('escapes help and labels, and writes values in the text format', () => {
    const text = expositionOf([
      {
        name: 'svc_waits_seconds',
        type: 'histogram',
        help: 'A back\\slash and\na second line',
        samples: [
          { suffix: '_bucket', labels: { le: '0.5', room: 'a"b\\c\nd' }, value: 3 },
          { suffix: '_sum', value: Infinity },
          { suffix: '_count', value: NaN },
        ],
      },
    ]);
    expect(text.split('\n')).toEqual([
      '# HELP svc_waits_seconds A back\\\\slash and\\na second line',
      '# TYPE svc_waits_seconds histogram',
      'svc_waits_seconds_bucket{le="0.5",room="a\\"b\\\\c\\nd"} 3',
      'svc_waits_seconds_sum +Inf',
      'svc_waits_seconds_count NaN',
      '',
    ]);
  });
});
