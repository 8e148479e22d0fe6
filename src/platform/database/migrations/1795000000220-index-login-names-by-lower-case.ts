import { indexConcurrently, type Migration } from '../migration';

/**
 * An index of user names in lower case, since a new email must not equal another User's `userName`, whatever its case.
 */
export const indexLoginNamesByLowerCase: Migration = {
  name: 'IndexLoginNamesByLowerCase1795000000220',
  isApart: true,
  statements: indexConcurrently('user_login_folded_idx', `user_login (lower(login)) where kind = 'userName'`),
};
