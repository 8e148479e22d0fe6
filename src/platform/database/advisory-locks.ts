/**
 * The numbers of all advisory locks. None ever changes: replicas of two releases run beside each other. A lock of one
 * key and a lock of two never meet, so two numbers stand in both lists. Ids and conditions of resources are locked by
 * one key too, a hash of theirs: one that equals a number here costs a wait and nothing else.
 */

/** Locks of one key. */
export const MIGRATION_LOCK = 4_713_590;
export const INDEX_JOB_LOCK = 4_713_591;
export const KEEP_DAYS_LOCK = 4_713_592;
export const SESSION_SWEEP_LOCK = 4_713_594;
export const KEY_ROTATION_LOCK = 4_713_595;

/** First keys of locks of two; the second is the slot of a worker, or a hash. */
export const WORKER_LOCK_CLASS = 4_713_591;
export const SESSION_OWNER_LOCK_CLASS = 4_713_592;
export const SESSION_FAMILY_LOCK_CLASS = 4_713_593;
export const LOGIN_LOCK_CLASS = 4_713_596;
