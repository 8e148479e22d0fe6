/**
 * Returns the milliseconds since now in which this process ran: at most the elapsed time, without the time of other
 * processes.
 */
export function stopwatch(): () => number {
  const [startsAt, usage] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(usage);
    return Math.min(performance.now() - startsAt, (user + system) / 1000);
  };
}
