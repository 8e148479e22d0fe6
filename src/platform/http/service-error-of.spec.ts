import { HttpException, InternalServerErrorException, NotFoundException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../errors/service-error';
import { readJson } from '../json/read-json';
import { serviceErrorOf } from './service-error-of';

const fromBodyParser = (status: number, type: string): Error => Object.assign(new Error('detail'), { status, type });

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe(serviceErrorOf, () => {
  it('hands on what is meant for the caller', () => {
    const error = new ServiceError('gone', 'Resource Patient/x was deleted');
    expect(serviceErrorOf(error)).toBe(error);
  });

  const wrapped = (status: number, cause: Error): HttpException => new HttpException('detail', status, { cause });
  const tooLarge = Object.assign(fromBodyParser(413, 'entity.too.large'), { limit: 2 ** 20 });

  it.each<[string, unknown, RegExp]>([
    ['C10.1: the limit of a body', tooLarge, /1 MiB/],
    ['C10.1: the limit of a body, wrapped by Nest', wrapped(413, tooLarge), /1 MiB/],
    ['C10.8: a body that does not unpack', wrapped(400, new Error('incorrect header check')), /cannot be unpacked/],
    ['C10.8: a body that ends early', wrapped(400, fromBodyParser(400, 'request.size.invalid')), /Content-Length/],
    ['C10.8: a URL that does not decode', wrapped(400, new URIError('detail')), /URL.*%25/],
  ])('names the cause: %s', (_case, error, words) => {
    expect(serviceErrorOf(error)?.message).toMatch(words);
  });

  it.each<[string, unknown, string | undefined]>([
    ['broken JSON', thrownBy(() => readJson('{')), 'invalid'],
    ['a body that is too large', fromBodyParser(413, 'entity.too.large'), 'too-large'],
    ['an unknown encoding', fromBodyParser(415, 'encoding.unsupported'), 'unsupported-media-type'],
    ['an aborted body', fromBodyParser(400, 'request.aborted'), 'invalid'],
    ['a body that does not unpack', fromBodyParser(400, 'Z_DATA_ERROR'), 'invalid'],
    ['a failure of the body parser', fromBodyParser(500, 'stream.not.readable'), undefined],
    ['a refusal of Nest', new NotFoundException('detail'), 'not-found'],
    ['a failure of Nest', new InternalServerErrorException('detail'), undefined],
    ['a cancelled query', Object.assign(new Error('detail'), { code: '57014' }), 'timeout'],
    ['a bug', new TypeError('detail'), undefined],
    ['a thrown text', 'detail', undefined],
    ['nothing', undefined, undefined],
  ])('translates %s, and repeats no detail', (_case, error, kind) => {
    const known = serviceErrorOf(error);
    expect([known?.kind, known?.message.includes('detail') ?? false]).toEqual([kind, false]);
  });
});
