# Tollgate in a container: built from the lockfile, run by a user of its own.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY console/package.json console/
RUN npm ci --ignore-scripts=false --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY gen gen
COPY src src
COPY console console
# The console carries the pages for users.
COPY docs docs
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY gen/tollgate.binpb gen/
COPY schemas schemas
RUN install -d -o node -g node -m 0700 /data
USER node
ENV NODE_ENV=production \
    TOLLGATE_DATA=/data \
    TOLLGATE_HTTP=0.0.0.0:8080 \
    TOLLGATE_GRPC=0.0.0.0:8081 \
    TOLLGATE_ADMIN=127.0.0.1:8082
EXPOSE 8080 8081
VOLUME /data
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/program/main.js"]
CMD ["serve"]
