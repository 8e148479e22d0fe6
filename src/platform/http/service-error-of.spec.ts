import { HttpException, InternalServerErrorException, NotFoundException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../errors/service-error';
import { readJson } from '../json/read-json';
import { serviceErrorOf } from './service-error-of';

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe(serviceErrorOf, () => {
  it('returns a ServiceError unchanged', () => {
    const error = new ServiceError('gone', 'Resource Patient/x was deleted');
    expect(serviceErrorOf(error)).toBe(error);
  });

  it('C10.8: names the cause for a URL that cannot be decoded', () => {
    const error = new HttpException('detail', 400, { cause: new URIError('detail') });
    expect(serviceErrorOf(error)?.message).toMatch(/URL.*%25/);
  });

  it.each<[string, unknown, string | undefined]>([
    ['broken JSON', thrownBy(() => readJson('{')), 'invalid'],
    ['a refusal of Nest', new NotFoundException('detail'), 'not-found'],
    ['a failure of Nest', new InternalServerErrorException('detail'), undefined],
    ['a cancelled query', Object.assign(new Error('detail'), { code: '57014' }), 'timeout'],
    ['a bug', new TypeError('detail'), undefined],
    ['a thrown text', 'detail', undefined],
    ['nothing', undefined, undefined],
  ])('translates %s without its details', (_case, error, kind) => {
    const known = serviceErrorOf(error);
    expect([known?.kind, known?.message.includes('detail') ?? false]).toEqual([kind, false]);
  });
});
