import { type Environment } from '../config/environment';
import { type StreamLimits } from './send-stream';

/** How long the callers of this server may take for an answer that comes in parts. */
export const streamLimitsOf = ({ streamStallSeconds, streamMaxSeconds }: Environment): StreamLimits => ({
  stallSeconds: streamStallSeconds,
  mostSeconds: streamMaxSeconds,
});
