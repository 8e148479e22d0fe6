import { Controller, HttpCode, HttpStatus, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { KeyRotation, type RotationResult } from '../keys/key-rotation';

/**
 * The route that rotates the signing keys; `npm run rotate-keys` calls it. A policy must grant this route, as any
 * other.
 */
@ApiTags('Tokens')
@Controller('auth/rotate-keys')
export class KeyRotationController {
  constructor(private readonly rotation: KeyRotation) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @OperationId('AuthRotateKeys')
  @ApiOperation({
    summary: 'Publishes a new signing key, which signs after SVC_KEY_OVERLAP_SECONDS',
    description: 'Keys whose last token has expired are withdrawn. A repeated call makes no second key.',
  })
  @ApiQuery({
    name: 'compromised',
    required: false,
    description: '`true` withdraws all other keys at once and ends their tokens; the next sweep closes the Sessions',
    schema: { type: 'string', enum: ['true', 'false'] },
  })
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'The newest key, its first signing time, and the keys that were withdrawn',
    example: {
      kid: '4be1a0b4-50d4-4d3f-9b0e-0b8f2a3f1f0e',
      signsFrom: '2026-11-21T10:00:00.000Z',
      isNew: true,
      removed: [],
    },
  })
  rotate(@Req() request: Request): Promise<RotationResult> {
    const query = queryOf(request).toString();
    if (query === '' || query === 'compromised=false') return this.rotation.rotate();
    if (query === 'compromised=true') return this.rotation.replaceAll();
    throw parameterInvalid('The one parameter is compromised, which is true or false.');
  }
}
