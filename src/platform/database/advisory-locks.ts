/**
 * This file has the numbers of all advisory locks of the server, from 4,713,000 to 4,713,999; tasks of modules have
 * others. They never change, since replicas of two releases run concurrently. PostgreSQL keeps locks with one key and
 * locks with two keys separate, so a number may be in both lists. Ids and conditions of resources are also locked with
 * one key, a hash. If such a hash equals a number here, the only effect is a wait.
 */

/** Keys of the locks with one key. */
export const MIGRATION_LOCK = 4_713_590;
export const INDEX_JOB_LOCK = 4_713_591;
export const KEEP_DAYS_LOCK = 4_713_592;
export const SESSION_SWEEP_LOCK = 4_713_594;
export const KEY_ROTATION_LOCK = 4_713_595;

/** First keys of the locks with two keys. The second key is a worker slot or a hash. */
export const WORKER_LOCK_CLASS = 4_713_591;
export const SESSION_OWNER_LOCK_CLASS = 4_713_592;
export const SESSION_FAMILY_LOCK_CLASS = 4_713_593;
export const LOGIN_LOCK_CLASS = 4_713_596;
