import { indexConcurrently, type Migration } from '../migration';

/** A new email must not be another User's `userName`, whose case is kept: it is found by its lower case. */
export const indexLoginNamesByLowerCase: Migration = {
  name: 'IndexLoginNamesByLowerCase1795000000220',
  isApart: true,
  statements: indexConcurrently('user_login_folded_idx', `user_login (lower(login)) where kind = 'userName'`),
};
